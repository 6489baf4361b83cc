export interface SnippetKey {
  readonly name: string
  readonly app_id: string
  readonly permissions: readonly string[]
}

export interface Snippet {
  readonly id: string
  readonly title: string
  readonly text: string
}

const slug = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '') || 'jeton'

/** Configuration with this key filled in. Without its secret a variable stands in its place. */
export function snippetsFor(
  { name, app_id, permissions }: SnippetKey,
  url: string,
  appToken?: string,
): readonly Snippet[] {
  const inShell = appToken ?? '$JETON_APP_TOKEN'
  const inFile = appToken ?? '<secret>'
  return [
    {
      id: 'curl',
      title: 'curl',
      text: `curl -s ${url}/v1/oauth/token \\
  -H "X-App-Id: ${app_id}" \\
  -H "X-App-Token: ${inShell}" \\
  -d grant_type=client_credentials -d scope="${permissions.join(' ')}"`,
    },
    {
      id: 'env',
      title: '.env',
      text: `JETON_URL=${url}
JETON_APP_ID=${app_id}
JETON_APP_TOKEN=${inFile}`,
    },
    {
      id: 'sdk',
      title: 'SDK',
      text: `import { createFetch, createTokenSource } from '@jeton/sdk'

const tokens = createTokenSource({
  baseUrl: '${url}',
  key: { appId: '${app_id}', appToken: ${appToken === undefined ? 'process.env.JETON_APP_TOKEN' : `'${appToken}'`} },
  scope: [${permissions.map((scope) => `'${scope}'`).join(', ')}],
})
const api = createFetch(tokens, { baseUrl: '${url}' })
const response = await api('/v1/rewards')
await tokens.close()`,
    },
    {
      id: 'nginx',
      title: 'nginx',
      text: `# An API that accepts the tokens of this key. The full configuration: docs/guides/protect-an-api
location / {
  auth_request /_jeton;
  proxy_pass http://127.0.0.1:3000;
}
location = /_jeton {
  internal;
  # Only these headers reach Jeton, so that a client cannot add others.
  proxy_pass_request_headers off;
  proxy_pass_request_body    off;
  proxy_set_header Authorization   $http_authorization;
  proxy_set_header X-Original-URI  $request_uri;
  proxy_set_header X-Forwarded-For $remote_addr;
  proxy_set_header Content-Length  "";
  proxy_pass ${url}/gateway/authorize;
}`,
    },
    {
      id: 'kubernetes',
      title: 'Kubernetes',
      text: `apiVersion: v1
kind: Secret
metadata:
  name: jeton-${slug(name)}
stringData:
  JETON_URL: ${url}
  JETON_APP_ID: ${app_id}
  JETON_APP_TOKEN: ${inFile}`,
    },
  ]
}
