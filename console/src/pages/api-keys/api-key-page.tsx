import { PageHeader } from '../../components/page-header.tsx'

export const ApiKeyPage = () => <PageHeader title="ApiKey" subtitle="This page is not built yet." />
