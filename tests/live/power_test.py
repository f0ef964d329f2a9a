#!/usr/bin/env python3
"""Nodes are switched off and on by the site's own commands. Usage: power_test.py ROTA [SEED]

A seed is printed; the same gives the same moments. A node is on while its file `on/NAME` is there: the commands make and remove it, with a delay, as the power switch of a
real one would. Jobs are the witnesses: each fails unless its node is on while it runs.
"""
import os
import random
import subprocess
import sys
import threading
import unittest

from service import PATIENCE, ServiceCase

KILLS, SEED = 8, random.SystemRandom().randrange(10**6)

SITE = """#!/bin/sh
# site.sh ACTION: what the commands of this cluster do to the node in ROTA_NODE. Of several orders the latest counts, as with
# a real switch: one whose time has come does nothing if there was another since.
cd "$(dirname "$0")" || exit 1
order() { flock switch sh -c "echo $$ > order-$ROTA_NODE"; }
if_latest() { flock switch sh -c "[ \\"\\$(cat order-$ROTA_NODE)\\" = $$ ] && $1 on/$ROTA_NODE"; }
echo "$1 $ROTA_NODE" >> asked
[ -e broken-$1-$ROTA_NODE ] && { echo "no answer from the plug of $ROTA_NODE" >&2; exit 3; }
while [ -e slow-$1-$ROTA_NODE ]; do sleep 0.02; done
case $1 in
  on) order; (sleep 0.3; if_latest touch) > /dev/null 2>&1 & ;;
  off) order; (sleep 0.2; if_latest 'rm -f') > /dev/null 2>&1 & ;;
  ready) [ -e on/$ROTA_NODE ] ;;
esac
"""

CLUSTER = """name = "plugs"
[[nodes]]
names = "n[1-2]"
processors = 2
boot_time = "2s"
boot_retry = "1s"
power_timeout = "10m"
power_tries = 2
suspend_command = "{folder}/site.sh off"
resume_command = "{folder}/site.sh on"
probe_command = "{folder}/site.sh ready"
"""

# Fails where it finds itself on a node that is off, now or at its end; tells on which it ran.
WITNESS = """case $ROTA_JOB_NODELIST in n[[]1-2]) nodes='n1 n2';; *) nodes=$ROTA_JOB_NODELIST;; esac
for node in $nodes; do [ -e on/$node ] || exit 9; echo $node >> ran; done
sleep {sleep}; for node in $nodes; do [ -e on/$node ] || exit 9; done"""


class PowerCase(ServiceCase):
    cluster = CLUSTER
    arguments = ("--policy", "easy+power=idle-timeout+power-idle=1")

    def start_service(self):
        os.mkdir(os.path.join(self.folder, "on"))
        for node in ("n1", "n2"):
            self.touch(f"on/{node}")
        path = os.path.join(self.folder, "site.sh")
        with open(path, "w") as file:
            file.write(SITE)
        os.chmod(path, 0o755)
        super().start_service()

    def configured(self):
        return self.cluster.format(folder=self.folder)

    def touch(self, name):
        with open(os.path.join(self.folder, name), "w"):
            pass

    def remove(self, name):
        os.remove(os.path.join(self.folder, name))

    def there(self, name):
        return os.path.exists(os.path.join(self.folder, name))

    def node(self, name):
        nodes = self.service.ask("GET", "/v1/nodes")[1]["nodes"]
        return next(node for node in nodes if node["name"] == name)

    def wait_for_power(self, power, names=("n1", "n2")):
        self.service.wait_for(lambda: all(self.node(name)["power"] == power for name in names),
                              f"{names} to be {power}")

    def count(self, words):
        return self.service.read("asked").splitlines().count(words) if self.there("asked") else 0

    def from_the_next_start_on(self, policy):
        self.service.arguments[self.service.arguments.index("--policy") + 1] = policy

    def says(self, *words):
        return subprocess.run([self.rota, *words, "--socket", self.service.socket], capture_output=True, text=True).stdout

    def act_on(self, action, nodes, **members):
        return self.service.ask("POST", f"/v1/nodes/{action}", {"nodes": nodes, **members})


class Power(PowerCase):
    def test_nodes_sleep_when_no_job_needs_them_and_wake_for_jobs(self):
        self.wait_for_power("off")
        self.assertFalse(self.there("on/n1") or self.there("on/n2"), "a node is told to be off and is on")
        for _ in range(2):
            job = self.service.submit(WITNESS.format(sleep=0.3), processors=2, limit=60)
            self.assertEqual(self.service.ends(job)["state"], "COMPLETED", self.service.job(job))
            self.wait_for_power("off")
        jobs = [self.service.submit(WITNESS.format(sleep=0.3), processors=2, limit=60) for _ in range(4)]
        for job in jobs:
            self.assertEqual(self.service.ends(job)["state"], "COMPLETED", self.service.job(job))
        self.assertEqual(set(self.service.read("ran").split()), {"n1", "n2"})
        self.assertGreaterEqual(self.count("on n1"), 2)
        self.assertEqual(self.service.decides_the_same_again(), "")

    def test_a_node_that_does_not_wake_is_tried_again_then_taken_out_and_another_one_serves(self):
        self.wait_for_power("off")
        self.touch("broken-on-n1")
        job = self.service.submit(WITNESS.format(sleep=0.1), processors=2, limit=60)
        self.assertEqual(self.service.ends(job)["state"], "COMPLETED")
        self.assertEqual(self.service.read("ran").split(), ["n2"])
        jobs = [self.service.submit(WITNESS.format(sleep=3), processors=2, limit=60) for _ in range(2)]
        self.service.wait_for(lambda: self.node("n1")["health"] == "down", "the node to be taken out of use")
        self.assertGreaterEqual(self.count("on n1"), 2)
        self.assertIn("no answer from the plug of n1", self.node("n1")["reason"])
        for job in jobs:
            self.assertEqual(self.service.ends(job)["state"], "COMPLETED")
        self.assertEqual(set(self.service.read("ran").split()), {"n2"})
        self.remove("broken-on-n1")
        self.assertEqual(self.act_on("resume", "n1")[0], 200)
        self.assertNotIn("no answer", self.node("n1").get("reason", ""))
        self.act_on("drain", "n2", reason="the other one is to serve")
        job = self.service.submit(WITNESS.format(sleep=0.1), processors=2, limit=60)
        self.assertEqual(self.service.ends(job)["state"], "COMPLETED")
        self.assertEqual(self.service.read("ran").split()[-1], "n1")

    def test_what_happened_to_nodes_while_no_service_ran_is_seen(self):
        self.wait_for_power("off")
        self.service.kill()
        self.touch("on/n2")
        self.touch("broken-off-n2")
        self.service.start()
        self.wait_for_power("on", ["n2"])
        self.assertEqual(self.node("n1")["power"], "off")
        self.service.kill()
        self.remove("on/n2")
        self.service.start()
        self.wait_for_power("off")

    def test_the_service_is_killed_again_and_again(self):
        print(f"seed {SEED}", file=sys.stderr)
        dice, jobs = random.Random(SEED), []
        for _ in range(KILLS):
            for _ in range(dice.randint(0, 2)):
                jobs.append(self.service.submit(WITNESS.format(sleep=dice.choice((0, 0.3, 1))),
                                                processors=dice.choice((1, 2, 4)), limit=60))
            threading.Event().wait(dice.random())
            self.service.kill()
            self.service.start()
        for job in jobs:
            self.assertEqual(self.service.ends(job)["state"], "COMPLETED", self.service.job(job))
        self.wait_for_power("off")
        self.assertFalse(self.there("on/n1") or self.there("on/n2"), "a node is told to be off and is on")


class SwitchedLater(PowerCase):
    """Nodes are left alone until something is prepared for the first order: the rule could give that as soon as there is a
    service."""
    arguments = ("--policy", "easy")

    def switch_idle_nodes(self):
        self.assertEqual(self.service.ask("PUT", "/v1/policy", {"policy": Power.arguments[1]})[0], 200)
        self.from_the_next_start_on(Power.arguments[1])

    def test_a_node_that_does_not_go_to_sleep_stays_in_use(self):
        self.touch("broken-off-n1")
        self.switch_idle_nodes()
        self.service.wait_for(lambda: "could not be put to sleep" in self.node("n1").get("reason", ""),
                              "the failure to be told")
        self.wait_for_power("off", ["n2"])
        self.assertEqual(self.node("n1")["health"], "up")
        job = self.service.submit(WITNESS.format(sleep=0), processors=2, limit=60)
        self.assertEqual(self.service.ends(job)["state"], "COMPLETED")
        self.remove("broken-off-n1")
        self.wait_for_power("off")
        self.assertNotIn("reason", self.node("n1"))

    def test_the_service_is_killed_while_nodes_are_switched(self):
        self.touch("slow-off-n1")
        self.switch_idle_nodes()
        self.service.wait_for(lambda: self.count("off n1") == 1 and self.node("n1")["power"] == "shutting_down",
                              "the node to be told to sleep")
        self.service.kill()
        self.service.start()
        self.service.wait_for(lambda: self.count("off n1") == 2, "the order to be given again")
        self.remove("slow-off-n1")
        self.wait_for_power("off")
        self.touch("slow-on-n1")
        self.touch("slow-on-n2")
        job = self.service.submit(WITNESS.format(sleep=0.1), processors=4, limit=60)
        self.service.wait_for(lambda: self.count("on n1") == 1 and self.count("on n2") == 1, "the nodes to be woken")
        self.service.kill()
        self.remove("slow-on-n1")
        self.remove("slow-on-n2")
        self.service.start()
        self.assertEqual(self.service.ends(job)["state"], "COMPLETED")
        self.assertEqual(sorted(self.service.read("ran").split()), ["n1", "n2"])


class Young(PowerCase):
    """Nodes that have not been idle for as long as it takes."""
    arguments = ("--policy", "easy")

    def test_no_node_has_been_idle_for_longer_than_there_is_a_state(self):
        self.service.ends(self.service.submit("true", processors=2, limit=60))
        self.assertEqual(self.service.ask("PUT", "/v1/policy", {"policy": "easy+power=idle-timeout+power-idle=10m"})[0], 200)
        self.service.ends(self.service.submit("true", processors=2, limit=60))
        self.assertEqual({self.node(name)["power"] for name in ("n1", "n2")}, {"on"})
        self.assertEqual(self.count("off n1") + self.count("off n2"), 0)

    def test_a_service_that_could_not_be_asked_touches_no_node(self):
        told = subprocess.run([self.rota, "serve", "--state", "other", "--socket", self.service.socket, "--config",
                               self.service.arguments[self.service.arguments.index("--config") + 1], "--policy", "easy+power=idle-timeout+power-idle=0s"], cwd=self.folder,
                              capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(told.returncode, 1, told.stderr)
        self.assertIn("another service answers there", told.stderr)
        self.assertFalse(self.there("other/rota.db"), told.stderr)
        self.assertEqual(self.count("off n1") + self.count("off n2"), 0)


class Leaving(PowerCase):
    """A policy that switches nodes is left for one that does not."""

    def leave(self):
        status, answer = self.service.ask("PUT", "/v1/policy", {"policy": "easy"})
        self.assertEqual(status, 200, answer)
        return answer


class Left(Leaving):
    cluster = CLUSTER.replace("power_tries = 2", "power_tries = 1000")  # however many there are before the test looks

    def test_a_node_that_sleeps_by_its_rule_is_woken_and_the_answer_says_so(self):
        self.wait_for_power("off")
        self.assertEqual(self.leave(), {"policy": "easy", "woken": "n[1-2]"})
        job = self.service.submit(WITNESS.format(sleep=0.1), processors=4, nodes=2, limit=60)
        self.assertEqual(self.service.ends(job)["state"], "COMPLETED", self.service.job(job))
        self.assertEqual(self.leave(), {"policy": "easy"})
        self.assertEqual(self.service.decides_the_same_again(), "")

    def test_so_it_is_after_a_failed_boot_and_a_crash(self):
        self.wait_for_power("off")
        self.touch("broken-on-n1")
        self.leave()
        self.service.wait_for(lambda: "could not be woken" in self.node("n1").get("reason", ""), "the first try")
        self.service.kill()
        self.from_the_next_start_on("easy")
        self.remove("broken-on-n1")
        self.service.start()
        self.wait_for_power("on")
        self.assertEqual(self.service.decides_the_same_again(), "")


class LeftByAnOperator(Leaving):
    arguments = ("--policy", "easy+power=idle-timeout+power-idle=10m")

    def test_a_node_that_sleeps_by_an_operators_order_is_left_alone_and_named_everywhere(self):
        self.assertEqual(self.act_on("power-down", "n1")[0], 200)
        self.wait_for_power("off", ["n1"])
        self.assertEqual(self.leave(), {"policy": "easy", "left_asleep": "n1"})
        self.assertEqual(self.service.ask("GET", "/v1/status")[1]["left_asleep"], "n1")
        self.assertEqual([self.node(name).get("left_asleep") for name in ("n1", "n2")], [True, None])
        whole = self.service.submit(WITNESS.format(sleep=0), processors=4, nodes=2, limit=60)
        self.service.wait_for(lambda: self.service.job(whole).get("reason") == "ReqNodeNotAvail", "the reason")
        self.assertIn("n1 is asleep until `rota nodes power-up` wakes it", self.service.job(whole)["why"])
        self.service.act("cancel", whole)
        first = self.service.submit("sleep 60", processors=2, limit=70)
        other = self.service.submit("true", processors=1, limit=60)
        self.service.wait_for(lambda: self.service.job(first)["state"] == "RUNNING", "the first to run")
        self.assertIn("Node n1 sleeps, and policy easy wakes no node", self.service.job(other)["why"])
        self.assertIn("n1 (sleeping, and the policy wakes no node)", self.says("doctor"))
        self.assertIn("rota nodes power-up n1", self.says("status"))
        self.assertIn("processors  4: 2 busy, 0 free, 2 asleep\n", self.says("status"))
        status, answer = self.act_on("power-up", "n[1-2]")
        self.assertEqual((status, answer), (200, {"ordered": "n1", "already": "n2"}))
        self.assertEqual(self.service.ends(other)["state"], "COMPLETED")
        self.assertEqual(self.act_on("power-up", "n[1-2]")[0], 400, "all are on")
        self.assertEqual(self.service.decides_the_same_again(), "")


class TooLate(PowerCase):
    cluster = CLUSTER.replace("10m", "3s").replace("power_tries = 2", "power_tries = 1000")  # the other is never given up

    def served_by_the_other(self):
        job = self.service.submit(WITNESS.format(sleep=0.1), processors=2, limit=60)
        self.assertEqual(self.service.ends(job)["state"], "COMPLETED")
        self.assertEqual(self.service.read("ran").split(), ["n2"])

    def test_a_node_that_does_not_get_ready_gets_no_jobs(self):
        self.wait_for_power("off")
        self.touch("broken-ready-n1")
        self.served_by_the_other()
        # Where the computer is busy the last of them may be killed at the end of the time.
        self.assertRegex(self.node("n1")["reason"], "its `probe_command` (ended with 3|did not end in time and was killed)")

    def test_a_command_that_hangs_is_killed(self):
        self.wait_for_power("off")
        self.touch("slow-on-n1")
        self.served_by_the_other()
        self.assertIn("its `resume_command` did not end in time and was killed", self.node("n1")["reason"])


class WithoutCommands(PowerCase):
    """The commands leave the cluster file while nodes are away."""
    arguments = ("--policy", "easy+power=idle-timeout+power-idle=1")

    def again(self, of_n2=""):
        """Killed, and served again under a policy without a power rule, with no commands for n1."""
        self.service.kill()
        with open(os.path.join(self.folder, "rota.toml"), "w") as file:
            file.write('name = "plugs"\n' + "".join(f'[[nodes]]\nnames = "{name}"\nprocessors = 2\n{of}'
                                                    for name, of in (("n1", ""), ("n2", of_n2))))
        self.from_the_next_start_on("easy")
        return self.service.start()

    def both_serve(self):
        self.assertEqual({name: self.node(name)["power"] for name in ("n1", "n2")}, {"n1": "on", "n2": "on"})
        job = self.service.submit("echo $ROTA_JOB_NODELIST > ran", processors=4, nodes=2, limit=60)
        self.assertEqual(self.service.ends(job)["state"], "COMPLETED", self.service.job(job))
        self.assertEqual(self.service.read("ran"), "n[1-2]\n")
        self.assertEqual(self.service.decides_the_same_again(), "")

    def test_a_node_that_slept_by_a_rule_is_on_again_and_the_log_says_so(self):
        self.wait_for_power("off")
        said = self.again()
        for name in ("n1", "n2"):
            self.assertIn(f"node {name}: it was asleep, and the cluster file has no `suspend_command` and `resume_command` "
                          "for it any more. Such a node is always on", said)
        self.both_serve()
        self.assertEqual(self.count("on n1") + self.count("on n2"), 0, "nobody is left to be asked for it")
        self.service.kill()
        self.assertNotIn("any more", self.service.start())
        self.both_serve()

    def test_a_node_that_was_on_its_way_is_on_again(self):
        self.wait_for_power("off")
        self.touch("slow-on-n1")
        job = self.service.submit(WITNESS.format(sleep=0.1), processors=4, nodes=2, limit=60)
        self.service.wait_for(lambda: self.node("n1")["power"] == "booting" and self.count("on n1") == 1, "n1 to be woken")
        self.service.act("cancel", job)
        self.assertIn("node n1: it was booting, and ", self.again())
        self.remove("slow-on-n1")
        self.both_serve()

    def test_one_that_still_has_some_is_left_to_them(self):
        self.wait_for_power("off")
        commands = CLUSTER.format(folder=self.folder).partition("processors = 2\n")[2]
        self.assertNotIn("node n2: ", self.again(commands))
        self.assertEqual(self.node("n1")["power"], "on")
        self.wait_for_power("on", ["n2"])  # by its command: the policy that put it to sleep was left
        self.assertEqual(self.count("on n2"), 1)
        self.both_serve()


class ByHand(PowerCase):
    arguments = ()

    def test_an_operator_puts_nodes_to_sleep_and_wakes_them(self):
        self.assertEqual(self.act_on("power-down", "n[1-2],n2,n1")[0], 200)
        self.wait_for_power("off")
        status, answer = self.act_on("power-down", "n1")
        self.assertEqual(status, 400)
        self.assertIn("it is not on", answer["detail"])
        job = self.service.submit(WITNESS.format(sleep=0), processors=2, limit=60)
        self.assertEqual(self.act_on("power-up", "n2")[0], 200)
        self.assertEqual(self.service.ends(job)["state"], "COMPLETED")
        self.assertEqual(self.service.read("ran").split(), ["n2"])
        self.assertEqual(self.service.decides_the_same_again(), "")

    def test_the_load_factor_switches_nodes_too(self):
        policy = {"policy": "easy+power=load-factor+power-interval=1"}
        self.assertEqual(self.service.ask("PUT", "/v1/policy", policy)[0], 200)
        self.act_on("power-up", "n[1-2]")
        self.service.wait_for(lambda: sorted(self.node(name)["power"] for name in ("n1", "n2")) == ["off", "on"],
                              "one node to sleep, and the other to stay for who may come")
        job = self.service.submit(WITNESS.format(sleep=0.3), processors=4, nodes=2, limit=60)
        self.assertEqual(self.service.ends(job)["state"], "COMPLETED", self.service.job(job))
        self.assertEqual(set(self.service.read("ran").split()), {"n1", "n2"})
        self.the_load_is_shown()
        self.assertEqual(self.service.decides_the_same_again(), "")
        status, answer = self.service.ask("PUT", "/v1/policy", {"policy": policy["policy"] + "+power-history=log"})
        self.assertEqual(status, 400)
        self.assertIn("a service does not know which jobs it will have", answer["detail"])

    def the_load_is_shown(self):
        """One job has ended after some 0.3 s on two nodes, and now one waits for 100 s: by that it is known what it may use."""
        self.service.submit("sleep 100", processors=4, nodes=2, limit=200)

        def loads():
            return self.service.ask("GET", "/v1/nodes")[1].get("power_rule", {"loads": []})["loads"]

        self.service.wait_for(lambda: any(load["most_work"] > 0 for load in loads()), "the rule to see the job")
        (load,) = loads()
        self.assertEqual((load["nodes"], "partition" in load), (2, False), load)
        self.assertGreaterEqual(load["most_work"], load["least_work"])
        self.assertGreater(load["load"], 0)
        printed = self.says("nodes", "--power").split()
        self.assertEqual(printed[:9], "PARTITION NODES ON BUSY FRAGMENTS LEAST_H MOST_H LOAD LOOKED".split())
        self.assertEqual(printed[9:11], ["all", "2"])
        metrics = self.service.ask("GET", "/metrics")[1]
        self.assertRegex(metrics, r'(?m)^rota_load_factor\{partition=""\} [0-9.e-]+$')
        self.assertRegex(metrics, r'(?m)^rota_queued_work_node_seconds\{partition="",estimate="most"\} [0-9.e-]+$')

    def test_a_policy_that_switches_nodes_needs_commands(self):
        self.service.stop()
        with open(os.path.join(self.folder, "rota.toml"), "w") as file:
            file.write('name = "plugs"\n[[nodes]]\nnames = "n[1-2]"\nprocessors = 2\n')
        self.service.start()
        status, answer = self.service.ask("PUT", "/v1/policy", {"policy": "easy+power=demand"})
        self.assertEqual(status, 400)
        self.assertIn("its knob power needs an engine that can switch nodes on and off", answer["detail"])
        self.assertIn("Nodes n[1-2] have no `suspend_command` and `resume_command` in the cluster file", answer["detail"])
        status, answer = self.act_on("power-down", "n1")
        self.assertIn("gives it no `suspend_command`", answer["detail"])


if __name__ == "__main__":
    ServiceCase.rota = os.path.abspath(sys.argv.pop(1))
    if len(sys.argv) > 1 and sys.argv[1].isdigit():
        SEED = int(sys.argv.pop(1))
    unittest.main()
