// Failed deliveries by their cause, above the list.

import { useState } from "preact/hooks";
import { describeError } from "../../../src/admin/summary";
import type { FailureGroup } from "../../../src/deliveries/failures";
import { lateReply } from "../../../src/deliveries/states";
import { everything, listAll, troubleText } from "./api";
import { host } from "./host";
import { Button, Note } from "./parts";
import { planGroupRemoval, planGroupReplay, planReplay } from "./plans";
import type { DeliveriesStore } from "./store";
import { getNodeLabel, numberText, text, timeText } from "./texts";

export function Failures({ store }: { store: DeliveriesStore }) {
  const { groups, causes, failures, hasMore } = store.state.failures;
  const counts = { count: numberText(failures), causes: numberText(causes) };
  const rest = causes - groups.length;
  return (
    <details class="webhook-deliveries-failures" style={{ display: failures > 0 ? "" : "none" }}>
      <summary>{text(hasMore ? "failures.newest" : "failures.sum", counts)}</summary>
      <div class="webhook-deliveries-groups">
        {groups.map((group) => (
          <Group key={JSON.stringify([group.node, group.error])} group={group} store={store} />
        ))}
        {rest > 0 && <Note>{text("failures.more", { count: numberText(rest) })}</Note>}
        {host().mayWrite() && <FailedSince store={store} />}
      </div>
    </details>
  );
}

function Group({ group, store }: { group: FailureGroup; store: DeliveriesStore }) {
  const { node, count, last } = group;
  const error = describeCause(group);
  const show = () => store.filterBy({ node, state: "failed", error: group.error });
  const replay = async () => {
    if ((await store.carryOut(planGroupReplay(group, error))) > 0) store.renew();
  };
  const remove = () => store.remove(() => planGroupRemoval(group, error));
  const buttons: (readonly [icon: string, name: string, press: () => unknown])[] = [
    ["fa-filter", text("failures.show"), show],
  ];
  if (host().mayWrite()) {
    buttons.push(["fa-repeat", text("tab.replay", { count: numberText(count) }), replay]);
    buttons.push(["fa-trash", text("delivery.delete"), remove]);
  }
  return (
    <div class="webhook-deliveries-group">
      <span>
        <b>{error}</b>{" "}
        {text("failures.group", { name: getNodeLabel(node), count: numberText(count), time: timeText(last) })}
      </span>
      <span class="webhook-deliveries-group-buttons">
        {buttons.map(([icon, name, press]) => (
          <Button key={icon} icon={icon} aria-label={`${name}: ${error}`} onClick={() => void press()}>
            {name}
          </Button>
        ))}
      </span>
    </div>
  );
}

/** The error of a group in words. */
export function describeCause({ error }: Pick<FailureGroup, "error">): string {
  return error === lateReply ? text("refused.flowLate") : describeError(error, text);
}

const day = 24 * 60 * 60_000;

/** Replays failed deliveries since a time, by the node and the cause of the filter. */
function FailedSince({ store }: { store: DeliveriesStore }) {
  const [since, setSince] = useState(() => formatLocal(Date.now() - day));
  const [isBusy, setBusy] = useState(false);
  const [result, setResult] = useState("");
  const search = async () => {
    const begin = new Date(since).getTime();
    if (isBusy || Number.isNaN(begin)) return;
    setBusy(true);
    try {
      const { node, error } = store.state.filter;
      const failed = await listAll({ ...everything, node, error, state: "failed" }, { since: begin });
      setResult(text("tab.failed.found", { count: numberText(failed.length) }));
      if (failed.length > 0) await store.carryOut(planReplay(failed));
    } catch (error) {
      setResult(troubleText(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <form
      class="webhook-deliveries-since"
      onSubmit={(event) => {
        event.preventDefault();
        void search();
      }}
    >
      <label for="webhook-deliveries-since">{text("tab.failed.since")}</label>
      <input
        type="datetime-local"
        id="webhook-deliveries-since"
        value={since}
        onInput={(event) => setSince(event.currentTarget.value)}
      />
      <Button type="submit">{text("tab.failed.replay")}</Button>
      <span role="status">{result}</span>
    </form>
  );
}

/** The value of a `datetime-local` input. */
function formatLocal(at: number): string {
  return new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
