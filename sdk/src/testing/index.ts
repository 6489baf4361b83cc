export { type SignedOptions, signed } from './signed.ts'
export { type NewKeyOptions, startJeton, type TestJeton, type TestJetonOptions } from './start-jeton.ts'
