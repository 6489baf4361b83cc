import { api, read } from '../../api/client.ts'
import type { Recogniser } from '../../search/recogniser.ts'

/** The token goes in the body of a check. It never becomes part of a URL. */
export const RECOGNISERS: readonly Recogniser[] = [
  {
    finds: 'token',
    pattern: /^jtn_\S+$/,
    async find(access_token, { projectId, signal }) {
      if (!projectId) return []
      const params = { path: { project_id: projectId } }
      const check = await read(
        api.POST('/projects/{project_id}/token-checks', { params, body: { access_token }, signal }),
      )
      const failed = check.steps.find(({ passed }) => !passed)
      const title = check.active
        ? 'This token is active'
        : `This token is not accepted: ${failed?.says ?? 'unknown'}`
      if (!check.token?.key_id)
        return [
          {
            title,
            ...(check.remedy && { detail: check.remedy }),
            link: { to: '/projects/$projectId/tokens', params: { projectId } },
          },
        ]
      return [
        {
          title,
          detail: `of key ${check.token.key_name}, scope ${check.token.scope}${check.remedy ? `. ${check.remedy}` : ''}`,
          link: {
            to: '/projects/$projectId/api-keys/$keyId',
            params: { projectId, keyId: check.token.key_id },
          },
        },
      ]
    },
  },
]
