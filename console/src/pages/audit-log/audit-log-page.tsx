import { PageHeader } from '../../components/page-header.tsx'

export const AuditLogPage = () => <PageHeader title="Audit log" subtitle="This page is not built yet." />
