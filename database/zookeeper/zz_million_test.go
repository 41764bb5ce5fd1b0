package zookeeper_test

import (
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/dbtester/dbtester/database"
	"github.com/dbtester/dbtester/database/databasetest"
)

func TestMillion(t *testing.T) {
	heap := os.Getenv("MILLION")
	if heap == "" {
		t.Skip()
	}
	i := installations(t)[0]
	d := newDriver(t, `{"heap": "`+heap+`"}`)
	cluster := databasetest.StartCluster(t, d, i, hosts()...)
	value := make([]byte, 1024)
	var wg sync.WaitGroup
	began := time.Now()
	for w := range 12 {
		wg.Go(func() {
			c, _, _ := zk.Connect(cluster.Endpoints[w%3:][:1], 30*time.Second, zk.WithLogInfo(false))
			defer c.Close()
			for b := w; b < 1000000/100; b += 12 {
				var ops []any
				for k := range 100 {
					key := fmt.Sprintf("k%0255d", b*100+k)
					h := fnv.New32a()
					h.Write([]byte(key))
					ops = append(ops, &zk.CreateRequest{Path: fmt.Sprintf("/dbtester/%03x/%s", h.Sum32()%1024, key), Data: value, Acl: zk.WorldACL(zk.PermAll)})
				}
				if _, err := c.Multi(ops...); err != nil {
					t.Error(b, err)
					return
				}
			}
		})
	}
	wg.Wait()
	t.Log("loaded in", time.Since(began))
	out, _ := exec.Command("sh", "-c", "ps -eo rss,args | grep QuorumPeerMain | grep -v grep | cut -c1-20").CombinedOutput()
	t.Logf("%s", out)
	for _, e := range cluster.Endpoints {
		c := open(t, d, database.Target{Endpoints: []string{e}, Consistency: "linearizable"})
		began = time.Now()
		n, err := c.(database.Counter).Count(t.Context(), "k")
		t.Log(e, n, err, time.Since(began))
	}
}
