import caddy from '../../../../deploy/Caddyfile?raw'
import envoy from '../../../../deploy/envoy.yaml?raw'
import nginx from '../../../../deploy/nginx.conf?raw'
import traefik from '../../../../deploy/traefik.yml?raw'

/** The files of `deploy/`, which the documentation shows and whose tests run them. */
export const PROXY_FILES = [
  { id: 'nginx', title: 'nginx', text: nginx },
  { id: 'caddy', title: 'Caddy', text: caddy },
  { id: 'traefik', title: 'Traefik', text: traefik },
  { id: 'envoy', title: 'Envoy', text: envoy },
] as const
