/** Results of checks are parts of sentences. A name or a path at the start keeps its case. */
export const sentenceText = (says: string): string =>
  says.replace(/^[a-z](?=[a-z]* )/, (first) => first.toUpperCase())

/** A remedy without a command that names no key: the page has a link or the whole command beside it. */
export const remedyText = (remedy: string): string => remedy.replace(/: jeton [^:.]*<key>[^:.]*?(\.|$)/, '.')
