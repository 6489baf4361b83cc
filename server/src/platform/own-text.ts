/**
 * The same text in memory of its own, for whoever keeps it: V8 makes a piece of a text point into the whole, so that a
 * name which is kept would keep the request that it came in.
 */
export const ownText = (text: string): string => ` ${text}`.slice(1)
