export type { Scope } from '../generated/scopes.ts'
export { type Call, createGuard, type Guard, type GuardOptions } from './create-guard.ts'
export { type Allowed, type Caller, type Refusal, type Refused, responseOf, type Verdict } from './verdict.ts'
