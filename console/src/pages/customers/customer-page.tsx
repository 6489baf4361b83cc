import { PageHeader } from '../../components/page-header.tsx'

export const CustomerPage = () => <PageHeader title="Customer" subtitle="This page is not built yet." />
