// What the runtime has told the open form of its node, as far as it bears on what fields mean.

import type { Standing } from "../../src/admin/standing";
import { form, isSame } from "./fields";

type Learnt = Pick<Standing, "hasOnlyLoopback" | "trustsEveryProxy" | "withoutKey">;

/** Happens to the form when it has come to know something of the node. */
export const learntEvent = "webhook-trigger-learnt";

const learntData = "learnt";
const nothing: Learnt = { hasOnlyLoopback: false, trustsEveryProxy: false, withoutKey: 0 };

export function learnt(): Learnt {
  return (form().data(learntData) as Learnt | undefined) ?? nothing;
}

/** @param standing nothing of a node that is not deployed */
export function learn(standing: Standing | undefined): void {
  const { hasOnlyLoopback = false, trustsEveryProxy = false, withoutKey } = standing ?? nothing;
  const news: Learnt = { hasOnlyLoopback, trustsEveryProxy, withoutKey };
  if (!isSame(news, learnt())) form().data(learntData, news).trigger(learntEvent);
}
