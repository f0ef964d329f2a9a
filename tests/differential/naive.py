#!/usr/bin/env python3
"""The textbook's rules as one slow loop that shares nothing with Rota: which job starts when, as a saved schedule.

Usage: naive.py LOG.swf PROCESSORS POLICY TIES     prints CSV, job_id,start in seconds
POLICY  fcfs  fcfs-skip  easy  easy-sjbf  easy++  conservative
TIES    batch         all events of one instant together, ends first
        submit-first  one by one, submissions first, as in published schedules; run times are cut at the limit

Every pass looks at every job, so that each rule stands in one line that can be read against its paper. It takes minutes
for more than a thousand jobs. Times are seconds; jobs that ask for too much are left out.
"""
import sys

LADDER = [60 * minutes for minutes in (1, 5, 15, 30, 60, 120, 300, 600, 1200, 3000, 6000)]  # Tsafrir et al. 2007
FAR = 1 << 60


class Job:
    def __init__(self, fields, one_by_one):
        self.number, self.submit, self.run = fields[0], fields[1], fields[3]
        self.processors = fields[4] if fields[4] > 0 else fields[7]
        self.limit = fields[8] if fields[8] > 0 else self.run
        self.user = fields[11]
        if one_by_one:
            self.run, self.limit = min(self.run, self.limit), max(self.run, self.limit)
        self.start, self.planned, self.corrections, self.past_limit = None, None, 0, False
        self.expected = self.first_expected = self.limit
        self.end = FAR


class Cluster:
    def __init__(self, jobs, processors, policy, one_by_one):
        self.coming = [job for job in jobs if job.processors <= processors]
        self.coming.sort(key=lambda job: job.submit)  # stable: ties as in the file
        self.waiting, self.running, self.ended_runs = [], [], {}
        self.processors, self.policy, self.one_by_one = processors, policy, one_by_one
        self.now, self.something_came_free = 0, False

    # -- what happens

    def go(self):
        while self.coming or self.running:
            self.now = min([job.submit for job in self.coming[:1]] + [self.next_of(job) for job in self.running])
            (self.each_by_itself if self.one_by_one else self.all_together)()

    def next_of(self, job):
        return min(job.end, FAR if job.past_limit else job.start + job.expected)

    def all_together(self):
        look = False
        for job in [job for job in self.running if job.end <= self.now]:
            look = self.finish(job)
        outlived = self.outlived()
        while self.coming and self.coming[0].submit <= self.now:
            look = self.submit(self.coming.pop(0))
        for job in outlived:
            look = not self.correct(job) or look
        if look:
            self.decide()

    def each_by_itself(self):
        if any([not self.correct(job) for job in self.outlived()]):
            self.decide()
        while self.coming and self.coming[0].submit <= self.now:
            self.submit(self.coming.pop(0))
            self.decide()
        while ending := [job for job in self.running if job.end <= self.now]:
            self.finish(ending[0])
            self.decide()

    def submit(self, job):
        past = self.ended_runs.get(job.user, []) if job.user >= 0 else []
        if self.policy == "easy++" and len(past) >= 2:
            job.expected = max(1, min(job.limit, (past[-1] + past[-2]) // 2))
        job.first_expected = job.expected
        self.waiting.append(job)
        return True

    def finish(self, job):
        self.running.remove(job)
        self.ended_runs.setdefault(job.user, []).append(job.end - job.start)
        self.something_came_free = True
        return True

    def outlived(self):
        return [job for job in self.running
                if not job.past_limit and job.start + job.expected <= self.now < job.end]

    def correct(self, job):
        """Whether there was a prediction to correct; a job at its limit has none."""
        if job.start + job.limit <= self.now:
            job.past_limit = True
            return False
        job.expected = min(job.limit, job.first_expected + LADDER[job.corrections])
        job.corrections += 1
        self.something_came_free = True
        return True

    # -- what is free

    def gives_back(self, job):
        """When, as far as planning knows. A job that is still there at the end of its time is there a moment longer."""
        return job.start + job.expected if self.one_by_one else max(job.start + job.expected, self.now + 0.001)

    def free(self, at):
        return self.processors - sum(job.processors for job in self.running if self.gives_back(job) > at)

    def free_beside_plans(self, at):
        return self.free(at) - sum(job.processors for job in self.waiting
                                   if job.planned is not None and job.planned <= at < job.planned + job.expected)

    # -- what is decided

    def begin(self, job):
        job.start, job.end = self.now, self.now + job.run
        if not self.one_by_one and job.run > job.limit:
            job.end = self.now + job.limit  # killed
        job.past_limit = job.end <= job.start + job.expected
        self.waiting.remove(job)
        self.running.append(job)

    def decide(self):
        if self.policy == "conservative":
            return self.decide_conservatively()
        while self.waiting and self.waiting[0].processors <= self.free(self.now):
            self.begin(self.waiting[0])
        if self.policy == "fcfs" or not self.waiting:
            return None
        candidates = list(self.waiting)
        if self.policy in ("easy-sjbf", "easy++"):
            candidates.sort(key=lambda job: job.expected)
        for job in candidates:
            if job.processors <= self.free(self.now) and (self.policy == "fcfs-skip" or self.does_not_delay_head(job)):
                self.begin(job)
        return None

    def does_not_delay_head(self, job):
        head = self.waiting[0]
        if job is head:
            return False
        shadow = min(at for at in map(self.gives_back, self.running) if self.free(at) >= head.processors)
        return self.now + job.expected <= shadow or job.processors <= self.free(shadow) - head.processors

    def decide_conservatively(self):
        for job in self.waiting:
            if job.planned is None or (self.something_came_free and job.planned > self.now):
                self.plan(job)
        self.something_came_free = False
        for job in list(self.waiting):
            if job.planned <= self.now:
                self.begin(job)

    def plan(self, job):
        job.planned = None
        turns = {self.now} | {self.gives_back(other) for other in self.running}
        for other in self.waiting:
            if other.planned is not None:
                turns |= {other.planned, other.planned + other.expected}
        for at in sorted(turn for turn in turns if turn >= self.now):
            inside = [at] + [turn for turn in turns if at < turn < at + job.expected]
            if all(self.free_beside_plans(turn) >= job.processors for turn in inside):
                job.planned = at
                return


def jobs_of(path, one_by_one):
    with open(path, encoding="ascii") as log:
        rows = [[int(field) for field in line.split()] for line in log if line.strip() and not line.startswith(";")]
    return [Job(row, one_by_one) for row in rows]


def main(path, processors, policy, ties):
    jobs = jobs_of(path, ties == "submit-first")
    Cluster(jobs, int(processors), policy, ties == "submit-first").go()
    print("job_id,start")
    for job in jobs:
        print(f"{job.number},{'' if job.start is None else job.start}")


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
