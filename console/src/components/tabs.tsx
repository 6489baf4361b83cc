import type { ReactNode } from 'react'
import { Tabs as AriaTabs, Tab, TabList, TabPanel } from 'react-aria-components'

interface TabsProps {
  readonly label: string
  readonly tabs: readonly { readonly id: string; readonly title: string; readonly content: ReactNode }[]
}

/** Alternatives of one thing, such as snippets for several tools. Not for pages: these have URLs. */
export const Tabs = ({ label, tabs }: TabsProps) => (
  <AriaTabs className="tabs">
    <TabList aria-label={label} className="tab-list">
      {tabs.map(({ id, title }) => (
        <Tab key={id} id={id}>
          {title}
        </Tab>
      ))}
    </TabList>
    {tabs.map(({ id, content }) => (
      <TabPanel key={id} id={id}>
        {content}
      </TabPanel>
    ))}
  </AriaTabs>
)
