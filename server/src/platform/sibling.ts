/** URL of a module next to the caller, for threads and child processes: `.ts` in the checkout, `.js` once compiled. */
export const sibling = (callerUrl: string, path: string): URL =>
  new URL(path + (callerUrl.endsWith('.ts') ? '.ts' : '.js'), callerUrl)
