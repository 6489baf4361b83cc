import { PageHeader } from '../../components/page-header.tsx'

export const DeliveryPage = () => <PageHeader title="Delivery" subtitle="This page is not built yet." />
