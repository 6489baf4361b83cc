import { fork, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import postgres from 'postgres'
import { fillDeliveries } from './deliveries/fill.ts'
import { heard } from './deliveries/protocol.ts'
import { Stores } from './stores.ts'

const [engine, dest, total, flag] = process.argv.slice(2) as [any, string, string, string]
const stores = new Stores()
const store = await stores.fresh(engine)
if (flag === 'stat') {
  const srv = (globalThis as any).pgServer
  await srv.stop()
  await srv.start(['shared_preload_libraries=pg_stat_statements', 'pg_stat_statements.track=all', 'pg_stat_statements.track_planning=on', 'compute_query_id=on'])
  const sql = postgres(store.databaseUrl!, { max: 1 }); await sql.unsafe('create extension pg_stat_statements'); await sql.end()
}
if (flag === 'auto') {
  const srv = (globalThis as any).pgServer
  await srv.stop()
  await srv.start([
    'session_preload_libraries=auto_explain',
    'auto_explain.log_min_duration=60',
    'auto_explain.log_analyze=on',
    'auto_explain.log_nested_statements=on',
  ])
}
const env: Record<string, string> = {
  ...store.env,
  JETON_WEBHOOK_ALLOW: '127.0.0.0/8',
  JETON_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
  JETON_LOG_LEVEL: 'warn',
}
const recv = fork(fileURLToPath(new URL('./deliveries/receiver.ts', import.meta.url)))
const url = await heard<string>(recv)
const ask = async () => {
  const a = heard<any>(recv)
  recv.send({})
  return a
}
const n = Number(dest),
  count = Number(total)
await fillDeliveries(
  { ...store, env },
  { urls: Array.from({ length: n }, (_, i) => `${url}/hooks/${i}`), events: count / n },
)
if (store.databaseUrl && flag === 'explain') {
  const sql = postgres(store.databaseUrl, { max: 1 })
  await sql.unsafe(`alter system set session_preload_libraries = 'auto_explain'`)
  await sql.unsafe(`alter system set auto_explain.log_min_duration = 30`).catch(console.error)
  await sql.unsafe(`alter system set auto_explain.log_analyze = on`).catch(console.error)
  await sql.unsafe(`select pg_reload_conf()`)
  await sql.end()
}
if (store.databaseUrl) {
  const sql = postgres(store.databaseUrl, { max: 1 })
  if (flag === 'log') {
    await sql.unsafe(`alter system set log_min_duration_statement = 0`)
    await sql.unsafe(`alter system set log_destination = 'stderr'`)
    await sql.unsafe(`alter system set logging_collector=on`)
    await sql.unsafe(`select pg_reload_conf()`)
  }
  console.log(await sql.unsafe(`show data_directory`))
  await sql.end()
}
const cpu = (pid: number) => {
  try {
    const f = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
    return (Number(f[11]) + Number(f[12])) * 10
  } catch {
    return 0
  }
}
const pgCpu = () => {
  let t = 0
  for (const p of readdirSync('/proc')) {
    if (!/^\d+$/.test(p)) continue
    try {
      if (/postgres/.test(readFileSync('/proc/' + p + '/comm', 'utf8'))) t += cpu(Number(p))
    } catch {}
  }
  return t
}
const pg0 = pgCpu()
const args = [
  ...(flag === 'prof' ? ['--cpu-prof', '--cpu-prof-dir=/tmp/prof'] : []),
  ...(process.env.FL ?? '').split(' ').filter(Boolean),
]
const bin = fileURLToPath(new URL('../server/bin/jeton.js', import.meta.url))
const child = spawn(process.execPath, [...args, bin, 'worker'], {
  env: {
    PATH: process.env.PATH,
    ...(process.env.DBG ? { DBG: '1' } : {}),
    ...(process.env.HP ? { NODE_OPTIONS: '--import ' + process.env.HP } : {}),
    ...env,
  },
  stdio: ['ignore', process.env.GC ? 'inherit' : 'ignore', 'inherit'],
})
const seen = new Map<string, number>()
const watch = store.databaseUrl && flag === 'watch' ? postgres(store.databaseUrl, { max: 1 }) : undefined
if (watch)
  void (async () => {
    for (;;) {
      try {
        for (const r of await watch.unsafe(
          `select state, wait_event_type, wait_event, left(query, 60) q from pg_stat_activity where pid <> pg_backend_pid() and state <> 'idle' and datname = current_database()`,
        )) {
          const k = `${r.state} ${r.wait_event_type}/${r.wait_event} ${r.q.replace(/\s+/g, ' ')}`
          seen.set(k, (seen.get(k) ?? 0) + 1)
        }
      } catch {
        return
      }
      await new Promise((r) => setTimeout(r, 7))
    }
  })()
const t0 = Date.now()
let last = 0,
  lastT = t0
for (;;) {
  await new Promise((r) => setTimeout(r, 250))
  const s = await ask()
  if (Date.now() - lastT >= 1000 || s.count >= count) {
    0 &&
      console.log(
        ((Date.now() - t0) / 1000).toFixed(1),
        s.count,
        Math.round((s.count - last) / ((Date.now() - lastT) / 1000)) + '/s',
        'worker cpu ms',
        cpu(child.pid!),
        'recv cpu',
        cpu(recv.pid!),
      )
    last = s.count
    lastT = Date.now()
  }
  if (s.count >= count) {
    console.log('total s', s.seconds)
    {
      const { readdirSync } = await import('node:fs')
      console.log(
        readdirSync(`/proc/${child.pid}/task`)
          .map((t) => {
            const r = readFileSync(`/proc/${child.pid}/task/${t}/stat`, 'utf8')
            const f = r.split(') ')[1]!.split(' ')
            return (
              r.split('(')[1]!.split(')')[0] +
              ':' +
              Math.round(((Number(f[11]) + Number(f[12])) * 10000) / count) +
              '(' +
              Math.round((Number(f[12]) * 10000) / count) +
              ' sys)'
            )
          })
          .filter((x) => !/:[0-2]\(/.test(x))
          .join('  '),
      )
    }
    {
      const io = readFileSync(`/proc/${child.pid}/io`, 'utf8')
      console.log(
        'io per delivery',
        [...io.matchAll(/(wchar|syscw|write_bytes|rchar|syscr): (\d+)/g)]
          .map((m) => m[1] + ' ' + Math.round((Number(m[2]) * 10) / count) / 10)
          .join(' '),
      )
    }
    console.log('pg µs', Math.round(((pgCpu() - pg0) * 1000) / count))
    console.log(
      'rate',
      Math.round((s.count - 1) / s.seconds),
      'per delivery: worker µs',
      Math.round((cpu(child.pid!) * 1000) / count),
      'receiver µs',
      Math.round((cpu(recv.pid!) * 1000) / count),
    )
    break
  }
}
if (flag === 'stat') {
  const sql = postgres(store.databaseUrl!, { max: 1 })
  for (const r of await sql.unsafe(`select calls, plans, round(total_exec_time) e, round(total_plan_time) p, rows, left(regexp_replace(query, '\\s+', ' ', 'g'), 110) q from pg_stat_statements order by total_exec_time + total_plan_time desc limit 24`)) console.log('stat', r.calls, 'plans', r.plans, 'exec µs/del', (r.e * 1000 / count).toFixed(1), 'plan', (r.p * 1000 / count).toFixed(1), r.rows, r.q)
  await sql.end()
}
if (store.databaseUrl) {
  const sql = postgres(store.databaseUrl, { max: 1 })
  console.log(
    await sql
      .unsafe(
        `select relname, n_tup_ins, n_tup_upd, n_tup_hot_upd, n_dead_tup, idx_tup_fetch, autovacuum_count from pg_stat_user_tables where relname in ('deliveries','attempts','events','waiting_events')`,
      )
      .then((r) => r.map((x) => JSON.stringify(x)).join('\n')),
  )
  await sql.end()
}
if (watch) {
  await watch.end()
  const all = [...seen.values()].reduce((a, b) => a + b, 0)
  for (const [k, v] of [...seen].sort((a, b) => b[1] - a[1]).slice(0, 25))
    console.log(((v / all) * 100).toFixed(1).padStart(5), k)
}
await new Promise<void>((r) => {
  child.once('exit', () => r())
  child.kill('SIGTERM')
})
const lastReq = (await ask()).last
{
  recv.send({ reset: true })
  await heard(recv)
  const bare = fork(fileURLToPath(new URL('./deliveries/bare.ts', import.meta.url)))
  const skip = new Set(['host', 'connection', 'content-length', 'transfer-encoding'])
  const c0 = cpu(recv.pid!)
  bare.send({
    urls: Array.from({ length: n }, (_, i) => `${url}/hooks/${i}`),
    headers: Object.fromEntries(Object.entries(lastReq.headers).filter(([k]) => !skip.has(k))),
    body: lastReq.body,
    count,
    connections: 64,
  })
  await heard(bare)
  const bcpu = cpu(bare.pid!)
  const b = await ask()
  console.log(
    'bare',
    Math.round(b.count / b.seconds),
    'bare µs',
    Math.round((bcpu * 1000) / count),
    'recv µs',
    Math.round(((cpu(recv.pid!) - c0) * 1000) / count),
  )
  bare.kill()
}
recv.kill('SIGKILL')
await store.drop()
await stores.remove()
process.exit(0)
