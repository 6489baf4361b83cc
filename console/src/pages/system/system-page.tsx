import { PageHeader } from '../../components/page-header.tsx'

export const SystemPage = () => <PageHeader title="System" subtitle="This page is not built yet." />
