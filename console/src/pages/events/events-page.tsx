import { PageHeader } from '../../components/page-header.tsx'

export const EventsPage = () => <PageHeader title="Events" subtitle="This page is not built yet." />
