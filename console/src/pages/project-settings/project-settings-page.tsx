import { PageHeader } from '../../components/page-header.tsx'

export const ProjectSettingsPage = () => (
  <PageHeader title="Settings" subtitle="This page is not built yet." />
)
