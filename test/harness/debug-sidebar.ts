import { once } from "node:events";

/** The parts of what the runtime tells the editor that are read here. */
interface Packet {
  topic: string;
  data: {
    /** What a debug node shows: an object as JSON. */
    msg: string;
    /** The name of that node. */
    name: string;
    /** The text of a node's status. */
    text: string;
  };
}

/** What an open editor would show in its debug sidebar and below its nodes. */
export class DebugSidebar {
  readonly #socket: WebSocket;
  readonly #messages: { name: string; text: string }[] = [];
  readonly statuses: string[] = [];

  /** Connects as the editor does, and waits until the debug messages to come will be heard. */
  static async open(editor: string): Promise<DebugSidebar> {
    const sidebar = new DebugSidebar(new WebSocket(new URL("comms", editor.replace(/^http/, "ws"))));
    await once(sidebar.#socket, "open");
    sidebar.#socket.send(JSON.stringify({ subscribe: "debug" }));
    // Whoever subscribes to the statuses is sent those of all nodes at once, which answers both subscriptions.
    sidebar.#socket.send(JSON.stringify({ subscribe: "status/#" }));
    await sidebar.#until(() => (sidebar.statuses.length > 0 ? true : undefined));
    return sidebar;
  }

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data: packets }) => {
      for (const { topic, data } of JSON.parse(String(packets)) as Packet[]) {
        if (topic === "debug") this.#messages.push({ name: data.name, text: data.msg });
        if (topic.startsWith("status/")) this.statuses.push(data.text);
      }
    });
  }

  /** Waits for a whole message with an id. */
  async message(id: unknown): Promise<Record<string, unknown>> {
    const { text } = await this.#until(() =>
      this.#messages.find((each) => each.text.includes(`"_msgid":"${String(id)}"`)),
    );
    return JSON.parse(text) as Record<string, unknown>;
  }

  /** Waits for a debug node to show a text. */
  async shown(name: string, text: string): Promise<void> {
    await this.#until(() => this.#messages.find((each) => each.name === name && each.text.includes(text)));
  }

  close(): void {
    this.#socket.close();
  }

  async #until<T>(find: () => T | undefined): Promise<T> {
    const signal = AbortSignal.timeout(120_000);
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      await once(this.#socket, "message", { signal });
    }
  }
}
