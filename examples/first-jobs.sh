#!/bin/sh
# A dozen jobs on this computer: a service on a fresh state in the folder that is named (build/first-jobs without), its
# queue, why a job waits, and the rehearsal of what really happened. Needs `rota` on PATH. Ends by itself and leaves nothing running.
set -eu

folder=${1:-build/first-jobs}
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
ROTA_SOCKET=$PWD/socket
export ROTA_SOCKET

printf 'name = "desk"\n\n[[nodes]]\nnames = "desk[1-2]"\nprocessors = 2\n' > rota.toml
rota serve --background --config rota.toml --state state
trap 'rota stop' EXIT

# Counts primes below $1.
cat > primes.sh <<'JOB'
#!/bin/sh
#ROTA --output primes-%j.out
awk -v most="$1" 'BEGIN {
  for (n = 2; n < most; ++n) { prime = 1; for (d = 2; d * d <= n; ++d) if (n % d == 0) { prime = 0; break } count += prime }
  print count " primes below " most
}'
JOB

echo "Twelve jobs on two nodes of two processors each, under the policy easy:"
for most in 400000 300000 200000; do
  rota submit --name wide --processors 3 --time 1m primes.sh $most
  rota submit --name whole --processors 4 --time 1m primes.sh 100000
  rota submit --name small --time 20s primes.sh $most
  rota submit --name short --time 5s -- sleep 1
done
echo
echo "\$ rota queue"
rota queue
echo
echo "\$ rota explain last"
rota explain last
rota wait all
echo
echo "\$ rota history"
rota history
cat primes-*.out | sort -u
echo
echo "What really happened is the first row; the others are rehearsals of the same jobs."
echo "\$ rota simulate state --policy easy,fcfs,conservative"
rota simulate state --policy easy,fcfs,conservative --quiet
