/** A name as one word of a shell, so that a printed command can be pasted. */
export const shellWord = (text: string): string =>
  /^[\w.@:/-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
