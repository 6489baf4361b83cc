import { Link } from '@tanstack/react-router'
import type { Schemas } from '../../api/client.ts'
import { CodeBlock } from '../../components/code-block.tsx'
import { StateBadge } from '../../components/state-badge.tsx'
import type { Failure } from '../../refusal/fix.ts'
import { FixLink } from '../../refusal/fix-link.tsx'
import { useProjectId } from '../../routing/project-route.tsx'
import { responseText } from './response-text.ts'
import { Steps } from './steps.tsx'

interface VerdictProps {
  readonly answer: Schemas['AccessCheck']
  /** The key, if one was checked and not a token. */
  readonly apiKey?: Schemas['ApiKey']
  readonly address?: string | undefined
}

const failureOf = (
  { steps, required_scope }: Schemas['AccessCheck'],
  { id, project_id, permissions }: Schemas['ApiKey'],
  address: string | undefined,
): Failure => ({
  step: steps.find(({ passed }) => !passed)?.step ?? '',
  projectId: project_id,
  keyId: id,
  address: address ?? null,
  requiredScope: required_scope,
  permissions,
})

/** The checks one by one, the fix, and the response that the caller gets. */
export const Verdict = ({ answer, apiKey, address }: VerdictProps) => (
  <div className="verdict" role="status">
    <div className="stack tight">
      <div className="row">
        <StateBadge tone={answer.allowed ? 'ok' : 'bad'}>{answer.allowed ? 'allowed' : 'refused'}</StateBadge>
        {apiKey && (
          <Link
            to="/projects/$projectId/api-keys/$keyId"
            params={{ projectId: apiKey.project_id, keyId: apiKey.id }}
          >
            Open {apiKey.name}
          </Link>
        )}
      </div>
      <Steps steps={answer.steps} />
      {answer.remedy && <Fix remedy={answer.remedy} command={answer.command} />}
      {apiKey && !answer.allowed && (
        <div>
          <FixLink failure={failureOf(answer, apiKey, address)} errorKey="insufficient_scope" isButton />
        </div>
      )}
    </div>
    <div className="stack tight">
      <h3>Response of the gateway</h3>
      <CodeBlock text={responseText(answer.response)} />
    </div>
  </div>
)

/** Commands about keys and tokens need their project where there are several. */
const inProject = (command: string, projectId: string): string =>
  /^jeton (key|token) /.test(command) ? `${command} --project ${projectId}` : command

/** The remedy; its command apart, to be copied. */
export function Fix({ remedy, command }: { remedy: string; command: string | null }) {
  const projectId = useProjectId()
  return (
    <>
      <h3>Fix</h3>
      <p>{command && remedy.endsWith(`: ${command}`) ? remedy.slice(0, -command.length - 1) : remedy}</p>
      {command && <CodeBlock text={inProject(command, projectId)} />}
    </>
  )
}
