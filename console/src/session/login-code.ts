/** The code of a sign-in link. It is removed from the address before any request, so that no history or log keeps it. */
function takeLoginCode(): string | undefined {
  const found = /^#code=(jtl_[\w-]{1,200})$/.exec(location.hash)
  if (location.hash.startsWith('#code=')) history.replaceState(null, '', location.pathname + location.search)
  return found?.[1]
}

let code = takeLoginCode()
// A link may be opened in a tab that already shows the console.
addEventListener('hashchange', () => {
  if (location.hash.startsWith('#code=')) location.reload()
})

/** The code that came with the link, until it is used or dismissed. */
export const loginCode = (): string | undefined => code
export const forgetLoginCode = (): void => {
  code = undefined
}
