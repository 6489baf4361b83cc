/** Untyped, so that types can be checked where the packages of the benchmarks are not installed. */
declare module '@node-oauth/oauth2-server'
declare module 'oidc-provider'
declare module 'vega'
declare module 'vega-lite'
