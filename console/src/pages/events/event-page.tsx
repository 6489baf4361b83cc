import { PageHeader } from '../../components/page-header.tsx'

export const EventPage = () => <PageHeader title="Event" subtitle="This page is not built yet." />
