import { PageHeader } from '../../components/page-header.tsx'

export const OperatorsPage = () => <PageHeader title="Operators" subtitle="This page is not built yet." />
