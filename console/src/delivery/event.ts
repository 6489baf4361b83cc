import type { AnswerOf } from '../api/query.ts'

export type Event = AnswerOf<'/projects/{project_id}/events/{event_id}'>
export type WholeDelivery = AnswerOf<'/projects/{project_id}/deliveries/{delivery_id}'>
