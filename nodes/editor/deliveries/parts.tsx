// Small parts of which tab and page are made.

import type { ButtonHTMLAttributes, ComponentChildren, Ref } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Summary } from "../../../src/admin/summary";
import { host } from "./host";
import { agoText, minuteText, momentText, numberText, stateIcons, text, timeText } from "./texts";

/** @param name of Font Awesome, decorative */
export function Icon({ name }: { name: string }) {
  return <i class={`fa fa-fw ${name}`} aria-hidden="true" />;
}

export const smallButton = "red-ui-button red-ui-button-small";

interface ButtonParts {
  readonly icon?: string;
  /** What is said and shown of one without a text. */
  readonly label?: string;
  readonly class?: string;
  readonly pressRef?: Ref<HTMLButtonElement>;
}

export type ButtonProps = Omit<ButtonHTMLAttributes, "ref" | "class"> & ButtonParts;

export function Button({ icon, label, pressRef, class: more = "", children, ...attributes }: ButtonProps) {
  const look = `${smallButton} ${more}`;
  return (
    <button type="button" ref={pressRef ?? null} class={look} aria-label={label} title={label} {...attributes}>
      {icon !== undefined && (
        <>
          <Icon name={icon} />{" "}
        </>
      )}
      {children !== undefined && <span>{children}</span>}
    </button>
  );
}

/** How long it says that a text is copied, in ms. */
const copiedMs = 2000;

/** @param name of what is copied */
export function CopyButton({ name, copied }: { name: string; copied: string }) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), copiedMs);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = () => {
    host().copy(copied);
    setCopied(true);
  };
  return (
    <>
      <Button icon="fa-copy" label={text("copy", { name })} onClick={copy} />
      <span role="status">{isCopied && text("copied")}</span>
    </>
  );
}

export function Note({ children }: { children: ComponentChildren }) {
  return <p class="webhook-delivery-note">{children}</p>;
}

export type DefinitionRow = readonly [name: string, value: ComponentChildren];

export function Definitions({ rows }: { rows: readonly DefinitionRow[] }) {
  return (
    <dl class="webhook-delivery-list">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Icon, word and, while it is retried, how often. A failed delivery that was replayed counts as succeeded, which its flow has not. */
export function State({ delivery: { state, replayedBy, attempt, maxAttempts } }: { delivery: Summary }) {
  const count =
    state === "retrying" && maxAttempts !== null ? ` ${numberText(attempt)}/${numberText(maxAttempts)}` : "";
  const word = text(`tab.state.${replayedBy === null ? state : "replayed"}`);
  return (
    <>
      <Icon name={replayedBy === null ? stateIcons[state] : "fa-repeat"} />{" "}
      <span>
        {count === "" ? word : <span class="webhook-deliveries-word">{word}</span>}
        {count}
      </span>
    </>
  );
}

/** How long ago something was, or when; always the latter for those who point at it, and for screen readers. */
export function Ago({ at, isExact }: { at: number; isExact: boolean }) {
  const exact = timeText(at);
  return (
    <time datetime={new Date(at).toISOString()} title={momentText(at)}>
      <span aria-hidden="true">{isExact ? exact : (agoText(at) ?? minuteText(at))}</span>
      <span class="webhook-deliveries-said">{exact}</span>
    </time>
  );
}
