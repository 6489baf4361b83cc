import { PageHeader } from '../../components/page-header.tsx'

export const ApiKeysPage = () => <PageHeader title="API keys" subtitle="This page is not built yet." />
