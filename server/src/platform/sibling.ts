/**
 * The address of a module beside the caller, for what is not imported but started (threads, child processes): `.ts` in
 * the checkout, `.js` once compiled.
 */
export const sibling = (callerUrl: string, path: string): URL =>
  new URL(path + (callerUrl.endsWith('.ts') ? '.ts' : '.js'), callerUrl)
