import { useMutation } from '@tanstack/react-query'
import { type ReactNode, type SyntheticEvent, useEffect, useState } from 'react'
import { ApiProblem, api, read } from '../api/client.ts'
import { Button } from '../components/button.tsx'
import { CodeBlock } from '../components/code-block.tsx'
import { TextField } from '../components/fields.tsx'
import { ErrorState } from '../components/notices.tsx'
import { Coin } from '../frame/coin.tsx'
import type { Whoami } from './session.tsx'

type Credential = { id: string; token: string } | { code: string }

/** The server reads both headers; browsers send the second one and forbid pages to set it. */
const signIn = (body: Credential) =>
  read(api.POST('/sessions', { body, params: { header: { 'x-jeton-console': '1' } } } as never))

function Frame({ title, children }: { title: string; children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Jeton`
  }, [title])
  return (
    <main className="sign-in">
      <p className="brand">
        <Coin /> Jeton
      </p>
      <section className="card">
        <h1>{title}</h1>
        {children}
      </section>
    </main>
  )
}

/**
 * Why no browser can sign in at this address; undefined if one can. The server refuses even an attempt without credentials,
 * so nobody types a token where it would travel unencrypted.
 */
function useWhyNot(): ApiProblem | undefined {
  const [whyNot, setWhyNot] = useState<ApiProblem>()
  useEffect(() => {
    signIn({} as Credential).catch((error) => {
      if (error instanceof ApiProblem && error.key === 'forbidden_origin') setWhyNot(error)
    })
  }, [])
  return whyNot
}

/** With the id and the token of an operator. Where a browser may not sign in, the page says why. */
export function SignInPage({ onDone }: { onDone: () => void }) {
  const [id, setId] = useState('')
  const [token, setToken] = useState('')
  const attempt = useMutation({ mutationFn: signIn, networkMode: 'always', onSuccess: onDone })
  const whyNot = useWhyNot()

  function submit(event: SyntheticEvent) {
    event.preventDefault()
    attempt.mutate({ id: id.trim(), token: token.trim() })
    setToken('')
  }

  if (whyNot)
    return (
      <Frame title="Sign in">
        <ErrorState error={whyNot} />
      </Frame>
    )
  return (
    <Frame title="Sign in">
      <form onSubmit={submit} className="stack">
        <TextField
          label="Operator id"
          value={id}
          onChange={setId}
          autoComplete="username"
          isMono
          isRequired
          autoFocus
        />
        <TextField
          label="Operator token"
          type="password"
          value={token}
          onChange={setToken}
          autoComplete="current-password"
          isMono
          isRequired
        />
        {attempt.error && <ErrorState error={attempt.error} />}
        <Button type="submit" look="primary" isPending={attempt.isPending}>
          Sign in
        </Button>
      </form>
      <div className="stack tight sign-in-help">
        <p className="dim small">Signed in on the command line? Open a link that signs this browser in:</p>
        <CodeBlock text="jeton console" />
        <p className="dim small">No operator yet, or the token is lost? On the machine of the service:</p>
        <CodeBlock text="jeton operator create --local" />
      </div>
    </Frame>
  )
}

interface WithCodeProps {
  readonly code: string
  /** The operator who is signed in already. */
  readonly current: Whoami | undefined
  readonly onDone: () => void
}

/**
 * Asks before it uses the code of a link: a link from a stranger could otherwise sign the operator in as somebody else, and
 * what the operator then does would happen in the stranger's account.
 */
export function SignInWithCode({ code, current, onDone }: WithCodeProps) {
  const attempt = useMutation({ mutationFn: signIn, networkMode: 'always', onSuccess: onDone })
  return (
    <Frame title={current ? 'Replace your session?' : 'Sign in with this link?'}>
      <p>
        Continue only if you opened this link yourself, from <code>jeton console</code> or the first start of
        the service.
      </p>
      {current && (
        <p>
          You are signed in as <strong>{current.operator.name}</strong> ({current.role}). The link ends that
          session and signs you in as the operator who created it.
        </p>
      )}
      {attempt.error && <ErrorState error={attempt.error} />}
      <div className="dialog-actions">
        <Button onPress={onDone}>{current ? `Stay ${current.operator.name}` : 'Cancel'}</Button>
        <Button
          look="primary"
          isPending={attempt.isPending}
          onPress={() => attempt.mutate({ code })}
          autoFocus
        >
          Continue
        </Button>
      </div>
    </Frame>
  )
}
