// What there is to do about a token or a secret: where it comes from, and what it looks like.

import { isCredentialChanged } from "./credentials";
import { shortName } from "../../src/trust/senders/table";
import { inputValue, keptPassword, senderOf, valuesInForm, type WebhookNode } from "./fields";

/** Says of each credential what there is to do about it. */
export function showCredentialHints(node: WebhookNode): void {
  const { sender } = valuesInForm(node);
  const known = senderOf(sender);
  const name = shortName(sender);
  $("#webhook-trigger-hint-token").text(tokenHint(node, name));
  const begins = known?.secretBegins;
  const beginning = begins === undefined ? "" : ` ${node._("secret.begins", { begins })}`;
  const kind = secretKind(sender);
  $("#webhook-trigger-hint-secret").text(
    inputValue("secret") === keptPassword ? node._("credential.kept") : node._(`secret.${kind}`, { name }) + beginning,
  );
  if (known && sender !== "custom") {
    const docs = $("<a>", {
      href: known.docs,
      target: "_blank",
      rel: "noopener",
      text: node._("secret.docs", { name }),
    });
    $("#webhook-trigger-hint-token, #webhook-trigger-hint-secret").append(" ", docs);
  }
  $("#webhook-trigger-secret-make").toggle(kind === "chosen" || kind === "shared");
}

function tokenHint(node: WebhookNode, name: string): string {
  if (inputValue("token") === keptPassword) return node._("credential.kept");
  // A node that was set up before has lost its token when it was copied or imported.
  if (inputValue("token") === "" && !isCredentialChanged("token")) return node._("token.lost");
  return name === "" ? "" : node._("secret.chosen", { name });
}

/** Who has the secret first. */
function secretKind(sender: string): "chosen" | "shown" | "publicKey" | "brought" | "shared" {
  const known = senderOf(sender);
  if (!known || sender === "custom") return "shared";
  if (known.settings?.includes("arm")) return "brought";
  if (known.secretIsChosen) return "chosen";
  return known.scheme.key.format === "utf8" || known.scheme.alg.startsWith("hmac-") ? "shown" : "publicKey";
}
