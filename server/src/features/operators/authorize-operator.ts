import type { FastifyRequest } from 'fastify'
import { notFound, Problem } from '../../contract/problem.ts'
import { hasRole } from '../../contract/roles.ts'
import type { CallingOperator, OperatorRule } from '../../platform/http/index.ts'

/** Refuses what the operator may not do. Projects come first: outside its own, an operator cannot tell what exists. */
export function authorizeOperator(
  { params }: Pick<FastifyRequest, 'params'>,
  operator: CallingOperator,
  rule: OperatorRule,
): void {
  const { project_id: projectId } = params as { project_id?: string }
  if (projectId !== undefined && operator.projects?.includes(projectId) === false)
    throw notFound('project', projectId)
  if (!hasRole(operator.role, rule.role))
    throw insufficientRole(
      `This requires the role ${rule.role}, and ${operator.id} is ${operator.role}.`,
      `An admin can change that: jeton operator update ${operator.id} --role ${rule.role}`,
    )
  if (rule.projects === 'all' && operator.projects !== null)
    throw insufficientRole(
      `This covers all projects, and ${operator.id} is limited to some.`,
      'Ask for one project: the same path below /management/v1/projects/{project_id}. An admin can change the projects of an operator.',
    )
}

export const insufficientRole = (message: string, details: string): Problem =>
  new Problem('insufficient_role', { message, details, refusal: { step: 'role_insufficient' } })
