import { PageHeader } from '../../components/page-header.tsx'

export const AccessPage = () => <PageHeader title="Access" subtitle="This page is not built yet." />
