import { PageHeader } from '../../components/page-header.tsx'

export const TokensPage = () => <PageHeader title="Tokens" subtitle="This page is not built yet." />
