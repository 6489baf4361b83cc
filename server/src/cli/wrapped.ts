/** What every terminal has; nothing for people is wider, but what they copy. */
export const TERMINAL_COLUMNS = 80

/** Lines of at most so many columns, broken between words. A word that is longer than that stays whole. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}
