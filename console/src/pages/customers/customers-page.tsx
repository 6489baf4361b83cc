import { PageHeader } from '../../components/page-header.tsx'

export const CustomersPage = () => <PageHeader title="Customers" subtitle="This page is not built yet." />
