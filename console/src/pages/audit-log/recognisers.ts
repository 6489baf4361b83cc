import type { Recogniser } from '../../search/recogniser.ts'

/** Ids of operators and sessions. What they changed, or what was done to them, is in the log of the service. */
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
