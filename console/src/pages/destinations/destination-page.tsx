import { PageHeader } from '../../components/page-header.tsx'

export const DestinationPage = () => <PageHeader title="Destination" subtitle="This page is not built yet." />
