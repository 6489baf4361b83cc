/** Results of checks are parts of sentences. A name or a path at the start keeps its case. */
export const sentenceText = (says: string): string =>
  says.replace(/^[a-z](?=[a-z]* )/, (first) => first.toUpperCase())
