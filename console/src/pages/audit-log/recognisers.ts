import type { Recogniser } from '../../search/recogniser.ts'

/** Ids of operators. The log shows their changes. */
export const RECOGNISERS: readonly Recogniser[] = [
  {
    finds: 'changes by an operator',
    pattern: /^op_\w+$/,
    find: (actor, { projectId }) =>
      projectId
        ? [
            {
              title: `Changes by ${actor}`,
              detail: 'Audit log of this project',
              link: { to: '/projects/$projectId/audit-log', params: { projectId }, search: { actor } },
            },
          ]
        : [],
  },
]
