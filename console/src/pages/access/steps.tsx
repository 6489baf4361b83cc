import { CircleCheck, CircleX } from 'lucide-react'
import { sentenceText } from '../../refusal/sentence-text.ts'

interface Step {
  readonly step: string
  readonly passed: boolean
  readonly says: string
}

/** Checks in their order. The failed one stands out. */
export const Steps = ({ steps }: { steps: readonly Step[] }) => (
  <ol className="steps">
    {steps.map(({ step, passed, says }) => {
      const Icon = passed ? CircleCheck : CircleX
      return (
        <li key={step} className={passed ? 'passed' : 'failed'}>
          <Icon size={15} aria-label={passed ? 'passed' : 'failed'} />
          <span>{sentenceText(says)}</span>
        </li>
      )
    })}
  </ol>
)
