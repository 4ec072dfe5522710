// Node-RED's editor as the host of the list of deliveries.

import type { SavedFields } from "../../../src/config/fields";
import type { Translate } from "../../../src/admin/summary";
import { getFlowName } from "../form/handover";
import { chooseTestBody } from "../form/test-request";
import { permissions } from "../../../src/config/permissions";
import { RED, type EditorNode } from "../node-red";
import { ApiError, type DeliveriesHost, type KnownNode } from "./host";
import { prepareNode } from "./new-node";

/** Other sites cannot send it. */
const contentType = "application/json";

const translate: Translate = (...asked) => RED.nodes.getType("webhook-trigger")._.call(undefined, ...asked);

export const editorHost: DeliveriesHost = {
  get language() {
    return RED.i18n.lang();
  },
  get settings() {
    const { settings } = RED;
    return {
      roots: settings.webhookTriggerRoots,
      baseUrl: settings.webhookTriggerBaseUrl,
      given: settings.webhookTriggerGiven,
      keepsNothing: settings.webhookTriggerDeliveries?.keep === 0,
    };
  },
  translate,
  call: async (path, method = "GET", body) => {
    const url = `webhook-trigger/${path}`;
    // The editor adds its token to what jQuery sends.
    const asked = $.ajax(method === "GET" ? { url } : { url, method, contentType, data: JSON.stringify(body) });
    const answer = await asked.catch(() => undefined as unknown);
    const isJson = typeof answer === "object" && answer !== null;
    if (asked.state() === "resolved" && (isJson || asked.status === 204)) return answer;
    throw new ApiError(asked.status, (asked.responseJSON as { code?: unknown } | undefined)?.code);
  },
  mayWrite: () => RED.user.hasPermission(permissions.write),
  reportError: (message) => RED.notify(message, "error"),
  listNodes: () => RED.nodes.filterNodes({ type: "webhook-trigger" }).map(describeNode),
  findNode: (id) => {
    const node = RED.nodes.node(id);
    return node ? describeNode(node) : undefined;
  },
  copy: (copied) => RED.clipboard.copyText(copied),
  showObject,
  isPage: false,
  reveal: (node) => RED.view.reveal(node),
  prepareNode,
  useInTest: chooseTestBody,
};

function describeNode(node: EditorNode): KnownNode {
  const saved = node as Partial<SavedFields>;
  return { id: node.id, label: RED.utils.getNodeLabel(node, node.id), flow: getFlowName(node), saved };
}

function showObject(value: object, typeHint: string): HTMLElement {
  const view = $("<div>", { class: "webhook-delivery-object red-ui-debug-msg" });
  view.append(RED.utils.createObjectElement(value, { path: "payload", rootPath: "payload", typeHint }));
  unfoldByKeyboard(view);
  view.find(handles).first().trigger("click");
  const [element = document.createElement("div")] = view;
  return element;
}

/** The editor opens these by mouse only. */
const handles = ".red-ui-debug-msg-expandable";

function unfoldByKeyboard(view: JQuery): void {
  const prepare = () => {
    view.find("i").attr("aria-hidden", "true");
    for (const handle of view.find(handles)) {
      const isOpen = handle.parentElement?.classList.contains("collapsed") === false;
      // That of bytes has a control in it, and no control may be in another.
      if (handle.querySelector("a")) $(handle).removeAttr("role tabindex aria-expanded");
      else $(handle).attr({ role: "button", tabindex: "0", "aria-expanded": String(isOpen) });
    }
  };
  view.on("click", prepare);
  view.on("keydown", handles, (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    $(event.currentTarget).trigger("click");
  });
  prepare();
}
