import type { Recogniser } from '../../search/recogniser.ts'

export const RECOGNISERS: readonly Recogniser[] = []
