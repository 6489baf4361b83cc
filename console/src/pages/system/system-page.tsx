import { EmptyState } from '../../components/notices.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { IfRole, useRole } from '../../session/session.tsx'
import { Findings } from './findings.tsx'
import { JobsCard } from './jobs-card.tsx'
import { Processes, useProcesses } from './processes.tsx'
import { QueueCard } from './queue-card.tsx'
import { SettingsCard } from './settings-card.tsx'
import { StoreCard } from './store-card.tsx'

/** Processes, store, queue, background jobs, checks and settings of the running service. */
export function SystemPage() {
  const { seesService } = useRole()
  return seesService ? (
    <Service />
  ) : (
    <>
      <PageHeader title="System" />
      <section className="card flush">
        <EmptyState
          sentence="You are limited to some projects, so the service as a whole is not shown to you. An admin can change that."
          command="jeton operator update <operator> --data '{&quot;projects&quot;:null}'"
        />
      </section>
    </>
  )
}

function Service() {
  const processes = useProcesses()
  const versions = [...new Set(processes.data?.data.map(({ version }) => version))]
  return (
    <>
      <PageHeader
        title="System"
        subtitle={versions.length > 0 && `Jeton ${versions.join(' and ')}`}
        cli="jeton process list"
        request={{ path: '/processes' }}
      />
      <Processes query={processes} hasSeveralVersions={versions.length > 1} />
      <div className="columns">
        <StoreCard />
        <QueueCard />
      </div>
      <JobsCard />
      <IfRole least="admin">
        <Findings />
        <SettingsCard />
      </IfRole>
    </>
  )
}
