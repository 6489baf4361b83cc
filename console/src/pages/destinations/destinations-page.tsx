import { PageHeader } from '../../components/page-header.tsx'

export const DestinationsPage = () => (
  <PageHeader title="Destinations" subtitle="This page is not built yet." />
)
