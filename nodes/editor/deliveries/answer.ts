// What the admin API answers, checked: something in front of Node-RED, such as a login page, may have answered instead.

import { ApiError } from "./host";

type Check = (value: unknown) => boolean;

export const isText: Check = (value) => typeof value === "string";
export const isNumber: Check = (value) => typeof value === "number";
export const isNumbers: Check = (value) => Array.isArray(value) && value.every(isNumber);
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A list of objects with these members. */
export function isListOf(shape: Readonly<Record<string, Check>>): Check {
  return (value) => Array.isArray(value) && value.every((each) => hasShape(each, shape));
}

/** The members of an answer that the code relies on. */
export type Shape<Answer> = { readonly [Name in keyof NoInfer<Answer>]?: Check };

function hasShape(value: unknown, shape: Readonly<Record<string, Check | undefined>>): boolean {
  return isRecord(value) && Object.entries(shape).every(([name, check]) => check?.(value[name]) ?? true);
}

/** @throws {ApiError} where it is not ours */
export function readReply<Answer extends object>(answer: unknown, shape: Shape<Answer>): Answer {
  if (!hasShape(answer, shape)) throw new ApiError(200);
  return answer as Answer;
}
