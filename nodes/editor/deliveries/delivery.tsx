// One delivery, in place of the list.

import { useLayoutEffect, useRef } from "preact/hooks";
import { isSenderId, senders } from "../../../src/auth/senders/table";
import { explain, type Summary } from "../../../src/admin/summary";
import { formatCallerSearch } from "../../../src/config/callers";
import { DeliveryActions } from "./actions";
import { AttemptsSection, BodySection, ReplySection, Section, ValuesSection } from "./content";
import { host } from "./host";
import { Button, type DefinitionRow, Definitions, Note, State } from "./parts";
import type { OpenedDelivery } from "./state";
import type { DeliveriesStore } from "./store";
import {
  agoText,
  attemptText,
  bytesText,
  composeFullPath,
  composePageUrl,
  durationText,
  getNodeName,
  isElsewhere,
  momentText,
  text,
  timeText,
} from "./texts";

export function DeliveryView({ opened, store }: { opened: OpenedDelivery; store: DeliveriesStore }) {
  const { id, summary, detail, trouble } = opened;
  const back = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => back.current?.focus(), [id]);
  const leave = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || event.defaultPrevented) return;
    // Escape would close the form.
    event.stopPropagation();
    store.close();
  };
  return (
    <div class="webhook-deliveries-opened" onKeyDown={leave}>
      <Button icon="fa-chevron-left" pressRef={back} onClick={store.close}>
        {text("tab.back")}
      </Button>
      <section
        key={id}
        class="webhook-delivery"
        aria-label={text("delivery.title", { time: summary ? timeText(summary.at) : id })}
      >
        {summary && <Head summary={summary} store={store} />}
        {detail && (
          <>
            <DeliveryActions detail={detail} store={store} />
            <BodySection detail={detail} store={store} />
          </>
        )}
        {summary && (
          <Section name="facts" store={store} brief={`${summary.method} ${composeFullPath(summary)}`}>
            <Facts summary={summary} store={store} />
          </Section>
        )}
        {detail && (
          <>
            <ReplySection detail={detail} store={store} />
            <AttemptsSection detail={detail} store={store} />
            <ValuesSection name="headers" detail={detail} store={store} />
            <ValuesSection name="query" detail={detail} store={store} />
          </>
        )}
        <div role="status">{trouble && <Note>{trouble}</Note>}</div>
      </section>
    </div>
  );
}

/** State, time, node, caller, reason and fix. */
function Head({ summary, store }: { summary: Summary; store: DeliveriesStore }) {
  const { at, state, node, caller } = summary;
  const explained = explain(summary, text);
  const isMeant = isElsewhere(summary) && node !== null;
  return (
    <div class="webhook-delivery-head">
      <div class="webhook-delivery-line">
        <b data-state={state}>
          <State delivery={summary} />
        </b>{" "}
        <time datetime={new Date(at).toISOString()}>{momentText(at)}</time> <span>{agoText(at)}</span>
      </div>
      <div class="webhook-delivery-line">
        {isMeant && `${text("delivery.meant")} `}
        {node === null ? text("delivery.noNode") : <NodeLink id={node} />}
      </div>
      {node !== null && caller !== null && (
        <div class="webhook-delivery-line">
          {text("delivery.caller")} <bdi>{caller}</bdi> <CallerSearch node={node} caller={caller} store={store} />
        </div>
      )}
      {explained && (
        <div class="webhook-delivery-cause" role="group" aria-label={text("delivery.cause")}>
          <p>{explained.reason}</p>
          <p>{explained.fix}</p>
        </div>
      )}
    </div>
  );
}

/** What is known of the request. */
function Facts({ summary, store }: { summary: Summary; store: DeliveriesStore }) {
  const { sender, size, milliseconds, attempt, replayOf, replayedBy, duplicateOf, id } = summary;
  const linkTo = (other: string | null) => other && <OtherLink id={other} store={store} />;
  const rows = {
    request: `${summary.method} ${composeFullPath(summary)}`,
    ip: summary.ip,
    // Another instance may be of a later version.
    sender: isSenderId(sender) ? senders[sender].name : sender,
    event: summary.event,
    senderId: summary.senderId,
    id: <OwnLink id={id} />,
    size: bytesText(size),
    took: milliseconds === null ? null : durationText(milliseconds),
    attempt: attemptText(summary) ?? (attempt > 1 ? String(attempt) : null),
    replayOf: linkTo(replayOf),
    replayedBy: linkTo(replayedBy),
    duplicateOf: linkTo(duplicateOf),
  };
  const known = Object.entries(rows).filter(([, value]) => value);
  return <Definitions rows={known.map(([name, value]): DefinitionRow => [text(`delivery.${name}`), value])} />;
}

/** Reveals a node, if it still exists. */
function NodeLink({ id }: { id: string }) {
  const { findNode, reveal } = host();
  if (!findNode(id)) return text("delivery.deletedNode", { id });
  const name = getNodeName(id);
  if (!reveal) return name;
  return (
    <Button aria-label={text("url.reveal", { name })} onClick={() => reveal(id)}>
      {name}
    </Button>
  );
}

/** Searches for all that the caller has sent. */
function CallerSearch({ node, caller, store }: { node: string; caller: string; store: DeliveriesStore }) {
  const look = () => store.filterBy({ node, text: formatCallerSearch(caller) });
  return <Button icon="fa-filter" label={text("delivery.searchCaller", { name: caller })} onClick={look} />;
}

/** Leads to the delivery in the page, which is not to take the place of the editor. */
function OwnLink({ id }: { id: string }) {
  const target = host().isPage ? {} : { target: "_blank", rel: "noopener" };
  return (
    <a href={composePageUrl({ delivery: id })} {...target}>
      {id}
    </a>
  );
}

/** Opens another delivery. */
function OtherLink({ id, store }: { id: string; store: DeliveriesStore }) {
  return (
    <Button aria-label={text("delivery.openOther", { id })} onClick={() => store.open(id)}>
      {id}
    </Button>
  );
}
