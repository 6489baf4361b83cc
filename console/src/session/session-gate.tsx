import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { isSignedOut } from '../api/client.ts'
import { apiQuery } from '../api/query.ts'
import { ErrorState, Skeleton } from '../components/notices.tsx'
import { forgetLoginCode, loginCode } from './login-code.ts'
import { SessionProvider } from './session.tsx'
import { SignInPage, SignInWithCode } from './sign-in-page.tsx'

const CHECK_EVERY_MS = 15_000

/** Shows the console to an operator who is signed in, and the sign-in page to everyone else, at the same address. */
export function SessionGate({ children }: { children: ReactNode }) {
  const client = useQueryClient()
  const whoami = useQuery(apiQuery('/whoami', {}, { pollMs: CHECK_EVERY_MS }))
  const [code, setCode] = useState(loginCode)
  const signedOut = isSignedOut(whoami.error)

  function finish() {
    forgetLoginCode()
    setCode(undefined)
    void client.resetQueries()
  }

  if (whoami.isPending) return <Skeleton lines={4} />
  if (code)
    return <SignInWithCode code={code} current={signedOut ? undefined : whoami.data} onDone={finish} />
  if (signedOut) return <SignInPage onDone={finish} />
  if (!whoami.data)
    return (
      <main className="sign-in">
        <ErrorState error={whoami.error} onRetry={() => void whoami.refetch()} />
      </main>
    )
  return <SessionProvider whoami={whoami.data}>{children}</SessionProvider>
}
