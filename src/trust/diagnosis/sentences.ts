// Sentences in a row.

/** @param sentences each with its full stop; behind one that is as wide as a character, no blank follows */
export function inARow(sentences: readonly string[]): string {
  return sentences.reduce((said, next) => (said.endsWith("。") ? said + next : `${said} ${next}`));
}
