import { PageHeader } from '../../components/page-header.tsx'

export const DeliveriesPage = () => <PageHeader title="Deliveries" subtitle="This page is not built yet." />
