import { notFound } from '../../contract/problem.ts'
import type { Reader, Transaction } from '../../platform/database/index.ts'
import { findProject, lockProject, type ProjectRow } from './project.store.ts'

export async function requireProject(reader: Reader, id: string): Promise<ProjectRow> {
  const project = await findProject(reader, id)
  if (!project) throw notFound('project', id)
  return project
}

export async function requireLockedProject(tx: Transaction, id: string): Promise<ProjectRow> {
  const project = await lockProject(tx, id)
  if (!project) throw notFound('project', id)
  return project
}
