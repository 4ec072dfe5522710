import { fullLoad, requestBytes } from "/work/fast-clone/bench/load";
import { baseline, nodeRed, oneHttpIn, oneWebhook, ordinary } from "/work/fast-clone/bench/subjects";
import { token } from "/work/fast-clone/test/harness/flow";
async function main() {
  const subjects = { base: await baseline(), fast: await nodeRed(oneWebhook), ord: await nodeRed(oneWebhook, ordinary), httpin: await nodeRed(oneHttpIn) };
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json", "User-Agent": "bench", Accept: "*/*" };
  const small = requestBytes("/hook", headers, JSON.stringify({ text: "x".repeat(89) }));
  const big = requestBytes("/hook", headers, JSON.stringify({ list: Array.from({length: 60}, (_, i) => ({ id: i, name: "name " + i, nested: { a: [1,2,3], b: "some text that is longer" } })) }));
  console.log(big.length);
  const wrong = requestBytes("/hook", { ...headers, Authorization: "Bearer " + "x".repeat(40) }, JSON.stringify({ text: "x".repeat(89) }));
  for (const [n, r] of Object.entries({ small, big, wrong })) for (let i = 0; i < 3; i++) for (const [name, s] of Object.entries(subjects)) {
    const l = await fullLoad(s.port, r, 32, 1500);
    console.log(n, name, Math.round(l.rate), l.statuses, l.generatorCpu.toFixed(2));
  }
  for (const s of Object.values(subjects)) await s.stop();
}
void main();
